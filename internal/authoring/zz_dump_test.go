package authoring
import ("testing";"os")
func TestZZDump(t *testing.T){ files,err:=Skill(SkillName); if err!=nil{t.Fatal(err)}
 root:=openRoot(t,os.Getenv("DUMP")); if _,err:=WriteSkill(root,files);err!=nil{t.Fatal(err)}}
